import {
  IconActivity,
  IconBell,
  IconBuildingStore,
  IconChartBar,
  IconCpu,
  IconCreditCard,
  IconHome,
  IconKey,
  IconList,
  IconUsers,
} from '@tabler/icons-react';
import type { Session } from './session/session.ts';

type Role = Session['role'];

/** A page of the navigation: its place in the address, its name, and its icon. */
export interface Destination {
  readonly place: string;
  readonly name: string;
  readonly Icon: typeof IconHome;
}

const HOME: Destination = { place: 'home', name: 'Home', Icon: IconHome };
const REQUESTS: Destination = { place: 'requests', name: 'Requests', Icon: IconList };
const USAGE: Destination = { place: 'usage', name: 'Usage', Icon: IconChartBar };
const MODELS: Destination = { place: 'models', name: 'Models', Icon: IconCpu };

/** The pages of the navigation by role (specification section 8); the first is the home page. */
export const DESTINATIONS: Readonly<Record<Role, readonly Destination[]>> = {
  owner: [
    HOME,
    REQUESTS,
    USAGE,
    { place: 'keys', name: 'Keys', Icon: IconKey },
    MODELS,
    { place: 'billing', name: 'Billing', Icon: IconCreditCard },
    { place: 'alerts', name: 'Alerts', Icon: IconBell },
  ],
  key: [HOME, REQUESTS, USAGE, MODELS],
  operator: [
    HOME,
    { place: 'accounts', name: 'Accounts', Icon: IconUsers },
    REQUESTS,
    USAGE,
    MODELS,
    { place: 'providers', name: 'Providers', Icon: IconBuildingStore },
    { place: 'health', name: 'Health', Icon: IconActivity },
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

/** True where the role has a page at this place. */
export function isPlaceOf(role: Role, place: string): boolean {
  return LINKED[role].includes(place) || DESTINATIONS[role].some((known) => known.place === place);
}
