import { Type } from 'typebox';
import { CreatedKey } from './key-schema.ts';

export const AdminAccount = Type.Object(
  {
    id: Type.Integer(),
    email: Type.String(),
    is_active: Type.Boolean(),
    credits_balance: Type.Number({ description: 'Credits' }),
    credits_held: Type.Number({ description: 'Credits reserved for requests in flight' }),
    alert_threshold: Type.Number(),
    created_at: Type.String({ format: 'date-time' }),
  },
  { description: 'The account' },
);

export const AdminAccountPage = Type.Object(
  { accounts: Type.Array(AdminAccount), next: Type.Union([Type.String(), Type.Null()]) },
  { description: 'By id ascending; pass next as after for the following page' },
);

export const AdminAccountQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  after: Type.Optional(Type.String({ description: 'The next of the page before' })),
});

export const NewAccountBody = Type.Object(
  {
    email: Type.String({ maxLength: 254 }),
    credits: Type.Optional(Type.Number({ minimum: 0, default: 0 })),
    alert_threshold: Type.Optional(Type.Number({ minimum: 0, default: 100 })),
  },
  { additionalProperties: false },
);

export const CreatedAccount = Type.Object(
  { account: AdminAccount, key: CreatedKey },
  { description: 'The account with its first key, which may manage' },
);

export const AdminAccountPatch = Type.Object(
  {
    email: Type.Optional(Type.String({ maxLength: 254 })),
    alert_threshold: Type.Optional(Type.Number({ minimum: 0 })),
    is_active: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

const account_id = Type.Integer({ minimum: 1 });
export const AccountPath = Type.Object({ account_id });
export const AccountKeyPath = Type.Object({ account_id, key_id: Type.Integer({ minimum: 1 }) });

export const CreditsBody = Type.Object(
  {
    amount: Type.Number({ description: 'Credits, at most six decimals; negative = adjustment' }),
    note: Type.Optional(Type.String({ maxLength: 1000 })),
  },
  { additionalProperties: false },
);

export const CreditsHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Makes a repeat of this request harmless' }),
  ),
});

export const CreditsAnswer = Type.Object(
  { credits_balance: Type.Number() },
  { description: 'The balance right after the change; the same for a repeat' },
);
