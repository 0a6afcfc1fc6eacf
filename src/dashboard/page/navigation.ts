import {
  BellIcon,
  CpuIcon,
  CreditCardIcon,
  GraphIcon,
  HomeIcon,
  KeyIcon,
  ListUnorderedIcon,
  OrganizationIcon,
  PulseIcon,
  ServerIcon,
} from '@primer/octicons-react';
import type { Session } from './session/session.ts';

type Role = Session['role'];

/** A page of the navigation: its place in the address, its name, and its icon. */
export interface Destination {
  readonly place: string;
  readonly name: string;
  readonly Icon: typeof HomeIcon;
}

const HOME: Destination = { place: 'home', name: 'Home', Icon: HomeIcon };
const REQUESTS: Destination = { place: 'requests', name: 'Requests', Icon: ListUnorderedIcon };
const USAGE: Destination = { place: 'usage', name: 'Usage', Icon: GraphIcon };
const MODELS: Destination = { place: 'models', name: 'Models', Icon: CpuIcon };

/** The pages of the navigation by role (specification section 8); the first is the home page. */
export const DESTINATIONS: Readonly<Record<Role, readonly Destination[]>> = {
  owner: [
    HOME,
    REQUESTS,
    USAGE,
    { place: 'keys', name: 'Keys', Icon: KeyIcon },
    MODELS,
    { place: 'billing', name: 'Billing', Icon: CreditCardIcon },
    { place: 'alerts', name: 'Alerts', Icon: BellIcon },
  ],
  key: [HOME, REQUESTS, USAGE, MODELS],
  operator: [
    HOME,
    { place: 'accounts', name: 'Accounts', Icon: OrganizationIcon },
    REQUESTS,
    USAGE,
    MODELS,
    { place: 'providers', name: 'Providers', Icon: ServerIcon },
    { place: 'health', name: 'Health', Icon: PulseIcon },
  ],
};

/** Pages that others link to, outside the navigation. */
const LINKED: Readonly<Record<Role, readonly string[]>> = {
  owner: ['explain'],
  key: ['keys'],
  operator: [],
};

/** The page that a role begins at. */
export function homeOf(role: Role): string {
  return DESTINATIONS[role][0]?.place ?? 'home';
}

/** True if the role has a page at this place. */
export function isPlaceOf(role: Role, place: string): boolean {
  return LINKED[role].includes(place) || DESTINATIONS[role].some((known) => known.place === place);
}
