import type { Membership, Person } from '../domain/people.ts';

export type { Membership, Person };

/** The session of a person. */
export interface SignedInPerson {
  readonly by: 'person';
  readonly sessionId: number;
  readonly person: Person;
  /** When the person signed in. */
  readonly signedInAt: number;
  /** The person's active memberships. */
  readonly memberships: readonly Membership[];
}

/** The session of an API key, which may have ended: each request authorizes the key again. */
export interface SignedInKey {
  readonly by: 'key';
  readonly sessionId: number;
  readonly keyId: number;
  /** SHA-256 (hex) of the value that was exchanged. */
  readonly keyHash: string;
}

/** The session of the operator's token, which is still ADMIN_TOKEN. */
export interface SignedInOperator {
  readonly by: 'operator';
  readonly sessionId: number;
}

/** The session of a request. */
export type SignedIn = SignedInPerson | SignedInKey | SignedInOperator;
