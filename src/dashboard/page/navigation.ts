import type { Session } from './session/session.ts';

/** The places of the navigation, by who is signed in; the first is where one begins. */
export const PLACES: Readonly<Record<Session['role'], readonly (readonly [place: string, name: string])[]>> =
  {
    owner: [
      ['overview', 'Overview'],
      ['keys', 'Keys'],
      ['explain', 'Explain'],
      ['ledger', 'Ledger'],
      ['alerts', 'Alerts'],
    ],
    key: [
      ['overview', 'This key'],
      ['keys', 'Settings'],
      ['ledger', 'Ledger'],
    ],
    operator: [['accounts', 'Accounts']],
  };
