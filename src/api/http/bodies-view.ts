import type * as admin from '../account/account-view.ts';
import type * as keys from '../keys/key-schema.ts';
import type { Static } from '../openapi/json-type.ts';

// What clients send. The body of an explain request is not among them: its schema lists the paths of the model
// endpoints, and the page would be compiled with all that serves them.

export type NewKeyBody = Static<typeof keys.NewKeyBody>;
/** A field that is absent is not changed. */
export type KeyPatchBody = Static<typeof keys.KeyPatch>;

export type NewAccountBody = Static<typeof admin.NewAccountBody>;
/** A field that is absent is not changed. */
export type AccountPatchBody = Static<typeof admin.AdminAccountPatch>;
export type CreditsBody = Static<typeof admin.CreditsBody>;
