import { CfnStack, CfnTag, Fn, Stack, Token } from 'aws-cdk-lib'
import { Construct } from 'constructs'

import { HeraldOutputs, HeraldParameters, Rule, rules, version } from './template'

/** Parameters of Herald's template, and tags. */
export interface HeraldProps extends HeraldParameters {
  /** Tags of the nested stack, which CloudFormation gives to its resources, too. */
  readonly tags?: CfnTag[]
}

// CloudFormation puts hyphens around the logical id, and up to 13 characters behind it.
const LONGEST_NAME = 53
const LONGEST_SUFFIX = '--'.length + 13

/**
 * Herald as a nested stack of its released template, which it takes from the bucket codeBucket.
 *
 * Outputs are properties. A parameter that is left out has the template's default.
 */
export class Herald extends HeraldOutputs {
  /** Name of the nested stack, for `herald --stack`. */
  readonly stackName: string
  private readonly nested: CfnStack

  constructor(scope: Construct, id: string, props: HeraldProps) {
    super(scope, id)
    const { tags, ...given } = props
    const parent = Stack.of(this)
    const parameters = asParameters(given, parent.region)
    // "Default" keeps the construct's id as the logical id, and the name of the nested stack short.
    this.nested = new CfnStack(this, 'Default', {
      // By the path, as a bucket's name may have dots, which the certificate of S3 does not cover.
      templateUrl: `https://s3.${parent.region}.${parent.urlSuffix}/${parameters['CodeBucket']}/` +
        `${parameters['CodeFolder'] ?? rules.codeFolder.default}/${version}/template.yaml`,
      parameters,
      tags,
    })
    const logicalId = String(parent.resolve(this.nested.logicalId))
    const longest = LONGEST_NAME - LONGEST_SUFFIX - logicalId.length
    if (!Token.isUnresolved(parent.stackName) && parent.stackName.length > longest) {
      throw new Error(`${parent.stackName} is too long a name for the stack of ${logicalId}: ` +
        `it may have ${longest} characters`)
    }
    this.stackName = Fn.select(1, Fn.split('/', this.nested.ref))
  }

  protected output(name: string): string {
    return this.nested.getAtt(`Outputs.${name}`).toString()
  }
}

/** The values that CloudFormation gets. What the template does not allow is refused now, except for tokens. */
function asParameters(given: HeraldParameters, region: string): { [name: string]: string } {
  const parameters: { [name: string]: string } = {}
  for (const [property, value] of Object.entries(given)) {
    if (value === undefined) {
      continue
    }
    const rule = (rules as { [property: string]: Rule | undefined })[property]
    if (rule === undefined) {
      throw new Error(`Herald has no parameter ${property}`)
    }
    if (Token.isUnresolved(value)) {
      parameters[rule.name] = Token.asString(value)
      continue
    }
    const text = String(value)
    const fault = faultOf(text, rule, region)
    if (fault !== undefined) {
      throw new Error(`${property} is ${JSON.stringify(text)}, and ${fault}`)
    }
    parameters[rule.name] = text
  }
  if (parameters['CodeBucket'] === undefined) {
    throw new Error('codeBucket is missing')
  }
  return parameters
}

function faultOf(text: string, rule: Rule, region: string): string | undefined {
  if (rule.values !== undefined && !rule.values.includes(text)) {
    return `must be one of ${rule.values.join(', ')}`
  }
  if (rule.pattern !== undefined && !new RegExp(`^(?:${rule.pattern})$`).test(text)) {
    return `must match ${rule.pattern}`
  }
  if (rule.maxLength !== undefined && text.length > rule.maxLength) {
    return `must have at most ${rule.maxLength} characters`
  }
  if (rule.min !== undefined && !(Number(text) >= rule.min)) {
    return `must be at least ${rule.min}`
  }
  if (rule.max !== undefined && !(Number(text) <= rule.max)) {
    return `must be at most ${rule.max}`
  }
  if (rule.regional && text !== '' && !Token.isUnresolved(region) && text.split(':')[3] !== region) {
    return `must be in ${region}`
  }
  return undefined
}
