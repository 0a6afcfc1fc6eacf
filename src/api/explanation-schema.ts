import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { type Static, Type } from './docs/json-type.ts';

/** The answer that a call would get, check by check (specification section 2). */
export const Explanation = Type.Object(
  {
    allowed: Type.Boolean({ description: 'Whether the call would be sent.' }),
    code: Type.Union([Type.Enum(Object.keys(ERRORS) as ErrorCode[]), Type.Null()], {
      description: 'The error code of the first check that fails; null: none does.',
    }),
    checks: Type.Array(
      Type.Object(
        {
          check: Type.String({ description: 'What is checked.' }),
          passed: Type.Boolean({ description: 'Whether the call passes it.' }),
          detail: Type.String({ description: 'The message of the refusal, or what was checked by.' }),
        },
        { title: 'Check' },
      ),
      {
        description:
          'All checks, in the order in which they count; the later ones also where an earlier one fails.',
      },
    ),
  },
  { title: 'Explanation', description: 'What the call would be answered.' },
);

export const EXPLANATION_EXAMPLE: Static<typeof Explanation> = {
  allowed: false,
  code: 'outside_active_hours',
  checks: [
    { check: 'is_active', passed: true, detail: 'The key is active.' },
    {
      check: 'active_hours',
      passed: false,
      detail: 'This API key works during 08:00-18:00 UTC only; it is 20:00 UTC now.',
    },
  ],
};
