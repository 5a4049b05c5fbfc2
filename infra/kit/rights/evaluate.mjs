// Evaluates requests by an IAM evaluator that is not part of this project: reads a JSON array of
// {principal, action, resource, account, context, identity, resourcePolicy, boundary} from standard input, and prints
// an array of "Allowed", "ImplicitlyDenied" or "ExplicitlyDenied", or of the evaluator's refusal of the request.
// Its argument is the folder that has node_modules.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { runSimulation } = createRequire(process.argv.at(-1) + '/')('@cloud-copilot/iam-simulate')

const results = []
for (const r of JSON.parse(readFileSync(0, 'utf8'))) {
  const simulation = {
    request: {
      principal: r.principal,
      action: r.action,
      resource: { resource: r.resource, accountId: r.account },
      contextVariables: r.context ?? {},
    },
    identityPolicies: [{ name: 'role', policy: { Version: '2012-10-17', Statement: r.identity } }],
    resourcePolicy: r.resourcePolicy ?? undefined,
    permissionBoundaryPolicies: r.boundary && [
      { name: 'boundary', policy: { Version: '2012-10-17', Statement: r.boundary } },
    ],
    serviceControlPolicies: [],
    resourceControlPolicies: [],
  }
  const answer = await runSimulation(simulation, {})
  results.push(answer.overallResult ?? JSON.stringify(answer.errors))
}
process.stdout.write(JSON.stringify(results))
