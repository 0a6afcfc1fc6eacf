import type { Session } from './session/session.ts';

/** The pages of the navigation, by role; the first is the home page. */
export const PLACES: Readonly<Record<Session['role'], readonly (readonly [place: string, name: string])[]>> =
  {
    owner: [
      ['overview', 'Overview'],
      ['requests', 'Requests'],
      ['keys', 'Keys'],
      ['explain', 'Explain'],
      ['ledger', 'Ledger'],
      ['alerts', 'Alerts'],
    ],
    key: [
      ['overview', 'This key'],
      ['requests', 'Requests'],
      ['keys', 'Settings'],
      ['ledger', 'Ledger'],
    ],
    operator: [
      ['accounts', 'Accounts'],
      ['requests', 'Requests'],
      ['usage', 'Usage'],
      ['providers', 'Providers'],
    ],
  };
