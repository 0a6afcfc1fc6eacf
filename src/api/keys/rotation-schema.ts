import { MOST_GRACE_S } from '../../domain/rotation.ts';
import { timestampOrNull } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';
import { CreatedKey, Key } from './key-schema.ts';

/** Body of `POST /api/keys/{key_id}/rotate/`. */
export const Rotation = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MOST_GRACE_S,
        default: 0,
        description: 'Seconds that the previous value stays valid; 0: it ends at once.',
      }),
    ),
    end_grace: Type.Optional(
      Type.Literal(true, {
        description: 'Ends the previous value now, without a new one. Send it alone.',
      }),
    ),
  },
  {
    title: 'Rotation',
    description: 'A new value, or the end of the previous one.',
    additionalProperties: false,
    maxProperties: 1,
  },
);

/** Answer to a rotation, the only one that shows the new value (specification section 2). */
export const RotatedKey = Type.Object(
  {
    ...CreatedKey.properties,
    previous_valid_until: timestampOrNull("End of the previous value, by Redis' clock; null: it has ended."),
  },
  { title: 'RotatedKey', description: 'The key with its new value.' },
);

export const RotatedOrEnded = Type.Union([RotatedKey, Key], {
  description: 'The new value; with `end_grace`, the key without its value.',
});
