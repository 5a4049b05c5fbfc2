// What TypeScript has to refuse: tsc fails where one of these is no error.
import { Stack } from 'aws-cdk-lib'

import { Herald, HeraldProps } from '../herald'

export const fine: HeraldProps = {
  codeBucket: 'my-bucket', schemaCheck: 'warn', dashboard: false, deathsPerHour: 7, logRetentionDays: 30,
}
// @ts-expect-error: codeBucket is missing
export const without: HeraldProps = { stage: 'prod' }
// @ts-expect-error: no such parameter
export const unknown: HeraldProps = { codeBucket: 'my-bucket', stages: 'prod' }
// @ts-expect-error: none of its values
export const value: HeraldProps = { codeBucket: 'my-bucket', schemaCheck: 'maybe' }
// @ts-expect-error: none of its numbers
export const days: HeraldProps = { codeBucket: 'my-bucket', logRetentionDays: 31 }
// @ts-expect-error: a boolean
export const text: HeraldProps = { codeBucket: 'my-bucket', dashboard: 'false' }
// @ts-expect-error: a number
export const number: HeraldProps = { codeBucket: 'my-bucket', deathsPerHour: '7' }

export const url: string = new Herald(new Stack(), 'Herald', fine).apiUrl
// @ts-expect-error: no such output
export const none: string = new Herald(new Stack(), 'Other', fine).apiUri
