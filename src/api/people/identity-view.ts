import type { IdentityRecord } from '../../book/identities.ts';
import { timestamp } from '../../domain/period.ts';
import { boolean, maybe, section } from '../../domain/shape.ts';
import { id, orNull, time } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';
import { sent } from './person-view.ts';

/** `POST /api/session/oidc/<name>/`. */
export const ProviderUse = section(
  {
    secret: maybe(sent, 'Secret of an invitation: accept it with the provider.'),
    link: maybe(boolean, 'true: link the identity at the provider to the person who is signed in.'),
  },
  { title: 'ProviderUse', description: 'What the sign-in at the provider is for: either of the two.' },
);

export const Location = Type.Object(
  { location: Type.String({ description: 'Where the browser goes: to the provider.' }) },
  { title: 'Location', description: 'Where the browser goes.' },
);
export type LocationView = Static<typeof Location>;

export const LOCATION_EXAMPLE = {
  location: 'https://login.example.com/authorize?response_type=code&client_id=tollgate&state=…',
};

export const ProviderPath = Type.Object({
  name: Type.String({ description: 'Name of the identity provider.', examples: ['company'] }),
});

export const IdentityPath = Type.Object({
  identity_id: Type.Integer({ minimum: 1, description: 'Id of the identity.', examples: [4] }),
});

export const IdentityList = Type.Object(
  {
    identities: Type.Array(
      Type.Object({
        id: id('Id of the identity.'),
        name: orNull(
          Type.String(),
          'Name of the identity provider; null: it is not in the config file any more.',
        ),
        issuer: Type.String({ description: 'Issuer of the identity.' }),
        subject: Type.String({ description: 'Subject (`sub`) of the identity.' }),
        email: orNull(Type.String(), 'E-mail address at the provider, as of the last sign-in; null: none.'),
        created_at: time('When the identity was linked.'),
      }),
      { description: 'Identities of the person.' },
    ),
  },
  { title: 'IdentityList', description: 'Identities with which the person can sign in, oldest first.' },
);
export type IdentityListView = Static<typeof IdentityList>;

export const IDENTITY_LIST_EXAMPLE = {
  identities: [
    {
      id: 4,
      name: 'company',
      issuer: 'https://login.example.com',
      subject: '248289761001',
      email: 'ada@example.com',
      created_at: '2026-11-21T08:00:00.000Z',
    },
  ],
};

/** `nameOf`: the provider of an issuer. */
export function identityListView(
  identities: readonly IdentityRecord[],
  nameOf: (issuer: string) => string | undefined,
): IdentityListView {
  return {
    identities: identities.map(({ id, issuer, subject, email, createdAt }) => ({
      id,
      name: nameOf(issuer) ?? null,
      issuer,
      subject,
      email,
      created_at: timestamp(createdAt),
    })),
  };
}
