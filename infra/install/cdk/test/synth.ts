// Synthesizes a stack with the construct for each case of the first argument, a JSON list, and prints what came of
// them as a JSON list: the template, or why there is none.
import { App, CfnOutput, CfnParameter, Stack } from 'aws-cdk-lib'

import { Herald, HeraldProps } from '../herald'

declare const process: { argv: string[] }

interface Case {
  readonly stack: string
  readonly region?: string
  readonly props: HeraldProps
  readonly outputs?: string[] // properties of the construct that the stack puts out
  readonly token?: 'deathsPerHour' | 'alarmTopicArn' // takes its value from a parameter of the outer stack
}

function synth({ stack: name, region, props, outputs, token }: Case): object {
  const app = new App({ analyticsReporting: false })
  const stack = new Stack(app, name, { env: region === undefined ? {} : { region } })
  const given = new CfnParameter(stack, 'Given', { type: token === 'deathsPerHour' ? 'Number' : 'String' })
  const tokens: Partial<HeraldProps> = token === undefined ? {} :
    { [token]: token === 'deathsPerHour' ? given.valueAsNumber : given.valueAsString }
  const herald = new Herald(stack, 'Herald', { ...props, ...tokens })
  for (const output of outputs ?? []) {
    new CfnOutput(stack, `${output}Output`, { value: String(herald[output as keyof Herald]) })
  }
  return app.synth().getStackByName(name).template
}

const results = (JSON.parse(process.argv[2] ?? '[]') as Case[]).map((one) => {
  try {
    return { template: synth(one) }
  } catch (error) {
    return { error: (error as Error).message }
  }
})
console.log(JSON.stringify(results))
