import { CALLER_FACTS, eachFact } from '../../domain/caller-facts.ts';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { orNull } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

/** Predicted result of a call, check by check (specification section 2). */
export const Explanation = Type.Object(
  {
    allowed: Type.Boolean({ description: 'Whether the call would be sent.' }),
    code: orNull(
      Type.Enum(Object.keys(ERRORS) as ErrorCode[]),
      'Error code of the first check that fails; null: none fails.',
    ),
    checks: Type.Array(
      Type.Object(
        {
          check: Type.String({ description: 'Name of the check.' }),
          state: Type.Enum(['passed', 'failed', 'not_checked'], {
            description: 'Result of the check. Checks of the model need a known model.',
          }),
          passed: Type.Boolean({ description: 'False if the check refuses the call.' }),
          detail: Type.String({ description: 'The message of the refusal, or the checked value.' }),
        },
        { title: 'Check' },
      ),
      {
        description: 'All checks in their order, even after one fails.',
      },
    ),
    caller: Type.Object(
      eachFact((fact) => orNull(Type.String(), CALLER_FACTS[fact].help)),
      { title: 'ExplainedCaller', description: 'The caller that was checked.' },
    ),
    targets: Type.Array(
      Type.Object(
        {
          target: Type.String({
            description: "The upstream's name in the configuration; `name#2` is its second credential.",
          }),
          upstream_model: Type.String({ description: 'Name of the model there.' }),
        },
        { title: 'ExplainedTarget' },
      ),
      {
        description:
          'Targets of the call, in order: if one fails, the call goes to the next. Calls of one conversation may have another order. Empty without a known model.',
      },
    ),
  },
  { title: 'Explanation', description: 'The answer that the call would get.' },
);

export const EXPLANATION_EXAMPLE: Static<typeof Explanation> = {
  allowed: false,
  code: 'outside_active_hours',
  checks: [
    { check: 'is_active', state: 'passed', passed: true, detail: 'The key is active.' },
    {
      check: 'active_hours',
      state: 'failed',
      passed: false,
      detail: 'This API key can only be used during 08:00-18:00 UTC. It is now 20:00 UTC.',
    },
  ],
  caller: {
    ...eachFact(() => null),
    ip: '203.0.113.9',
    country: 'DE',
    origin: 'https://app.example.com',
  },
  targets: [{ target: 'demo', upstream_model: 'demo-chat' }],
};

export type ExplanationView = Static<typeof Explanation>;
/** One check of an explained call. */
export type CheckView = ExplanationView['checks'][number];
