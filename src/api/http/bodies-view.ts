import type * as admin from '../account/account-view.ts';
import type * as keys from '../keys/key-schema.ts';
import type { Static } from '../openapi/json-type.ts';

// Request bodies, except that of explain: its schema lists the paths of the model endpoints, and would pull the code
// that serves them into the compilation of the page.

export type NewKeyBody = Static<typeof keys.NewKeyBody>;
/** Absent fields stay unchanged. */
export type KeyPatchBody = Static<typeof keys.KeyPatch>;

export type NewAccountBody = Static<typeof admin.NewAccountBody>;
/** Absent fields stay unchanged. */
export type AccountPatchBody = Static<typeof admin.AdminAccountPatch>;
export type CreditsBody = Static<typeof admin.CreditsBody>;
