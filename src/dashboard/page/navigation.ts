import {
  BellIcon,
  CpuIcon,
  CreditCardIcon,
  GraphIcon,
  HomeIcon,
  KeyIcon,
  ListUnorderedIcon,
  OrganizationIcon,
  PeopleIcon,
  PersonIcon,
  PulseIcon,
  ServerIcon,
} from '@primer/octicons-react';
import { linkedOf, type PageRole, placesOf } from './session/may.ts';
import { isPerson, knowsModels, session } from './session/session.ts';

/** A page of the navigation: its place in the address, its name, and its icon. */
export interface Destination {
  readonly place: string;
  readonly name: string;
  readonly Icon: typeof HomeIcon;
}

/** Names and icons of the pages by their places. */
const DESTINATIONS: Readonly<Record<string, Omit<Destination, 'place'>>> = {
  home: { name: 'Home', Icon: HomeIcon },
  accounts: { name: 'Accounts', Icon: OrganizationIcon },
  requests: { name: 'Requests', Icon: ListUnorderedIcon },
  usage: { name: 'Usage', Icon: GraphIcon },
  keys: { name: 'Keys', Icon: KeyIcon },
  models: { name: 'Models', Icon: CpuIcon },
  billing: { name: 'Billing', Icon: CreditCardIcon },
  alerts: { name: 'Alerts', Icon: BellIcon },
  people: { name: 'People', Icon: PeopleIcon },
  providers: { name: 'Providers', Icon: ServerIcon },
  health: { name: 'Health', Icon: PulseIcon },
  me: { name: 'Me', Icon: PersonIcon },
};

/** The pages of the navigation for the session (specification section 8); the first is the home page. */
export function destinations(): readonly Destination[] {
  const { role = 'person' } = session.value ?? {};
  return placesOf(role, knowsModels()).flatMap((place) => {
    const known = DESTINATIONS[place];
    return known ? [{ place, ...known }] : [];
  });
}

/** The page that a role begins at. */
export function homeOf(role: PageRole): string {
  return placesOf(role, false)[0] ?? 'home';
}

/** True if the session has a page at this place. */
export function isPlaceOf(role: PageRole, place: string): boolean {
  return linkedOf(role, isPerson()).includes(place) || placesOf(role, knowsModels()).includes(place);
}
