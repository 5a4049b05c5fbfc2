"""What schemathesis cannot know of the management API."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Leave out cursors: none that is made up was issued, so all of them are refused, as they should be."""
    if case.query and "cursor" in case.query and case.meta and case.meta.generation.mode.is_positive:
        del case.query["cursor"]
