import { Type } from 'typebox';

export const ExplainBody = Type.Object(
  {
    model: Type.String({ description: 'Slug of the model that would be called' }),
    endpoint: Type.Optional(
      Type.String({ description: 'Path under /v1; default: the first one that serves the model' }),
    ),
    ip: Type.Optional(Type.String({ description: 'Address of the caller; default: yours' })),
    origin: Type.Optional(Type.String({ description: 'Origin header; default: none is sent' })),
    country: Type.Optional(
      Type.String({ description: 'ISO 3166-1 alpha-2 code; default: where the address belongs' }),
    ),
    at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When, for active_hours and expires_at; default: now',
      }),
    ),
  },
  { additionalProperties: false },
);

export const Explanation = Type.Object(
  {
    allowed: Type.Boolean(),
    code: Type.Union([Type.String(), Type.Null()], { description: 'Of the first check that fails' }),
    checks: Type.Array(
      Type.Object({
        check: Type.String(),
        passed: Type.Boolean(),
        detail: Type.String(),
      }),
    ),
  },
  { description: 'What a call would be answered; every check is judged, in the order in which they count' },
);
