import type { Action } from '../../../domain/roles.ts';
import type { Scope } from './scope.ts';

/** A page of a scope: its place in the path, its name, and who has it. */
export interface PlaceOfScope {
  readonly place: string;
  readonly name: string;
  /** Name of its icon, if that is not the place. */
  readonly icon?: string;
  has(scope: Scope): boolean;
}

/** Pages that belong together, with the title of their list. The first list has none. */
export interface PageGroup {
  readonly title: string;
  readonly pages: readonly PlaceOfScope[];
}

const always = () => true;
const may = (action: Action) => (scope: Scope) => scope.can(action);
/** For people and managing keys; another key sees what is its own on its Home. */
const mayAll = (action: Action) => (scope: Scope) => scope.can(action) && !isOfKey(scope);
const reaches = (action: Action) => (scope: Scope) => scope.reach(action) === 'all';

/** Pages of an account, in the order of the navigation; the operator sees the same, below the account's own path. */
const ACCOUNT_PAGES: readonly PageGroup[] = [
  {
    title: '',
    pages: [
      { place: 'home', name: 'Home', has: always },
      { place: 'requests', name: 'Requests', has: may('read calls') },
      { place: 'usage', name: 'Usage', has: may('read usage') },
      { place: 'keys', name: 'Keys', has: may('read keys') },
      { place: 'models', name: 'Models', has: ({ kind }) => kind === 'own' },
    ],
  },
  {
    title: 'Account',
    pages: [
      { place: 'members', name: 'Members', has: may('read members') },
      { place: 'limits', name: 'Limits', has: mayAll('read usage') },
      { place: 'billing', name: 'Billing', has: mayAll('read the ledger') },
      { place: 'alerts', name: 'Alerts', has: may('read alerts') },
      { place: 'audit', name: 'Audit', has: may('read the audit log') },
      { place: 'settings', name: 'Settings', has: reaches('read the account') },
    ],
  },
];

const OPERATOR_PAGES: readonly PageGroup[] = [
  {
    title: '',
    pages: [
      { place: 'home', name: 'Home', has: always },
      { place: 'accounts', name: 'Accounts', has: always },
      { place: 'people', name: 'People', has: always },
      { place: 'requests', name: 'Requests', has: always },
      { place: 'usage', name: 'Usage', has: always },
    ],
  },
  {
    title: 'Gateway',
    pages: [
      { place: 'models', name: 'Models', has: always },
      { place: 'providers', name: 'Providers', has: always },
      { place: 'health', name: 'Health', has: always },
      { place: 'audit', name: 'Audit', has: always },
    ],
  },
];

/** Pages of a scope that the session has, in their groups. A group without pages is left out. */
export function pageGroupsOf(scope: Scope): readonly PageGroup[] {
  return (scope.kind === 'operator' ? OPERATOR_PAGES : ACCOUNT_PAGES)
    .map(({ title, pages }) => ({
      title,
      pages: pages.filter((page) => page.has(scope)).map((page) => ofSession(page, scope)),
    }))
    .filter(({ pages }) => pages.length > 0);
}

/** All pages of a scope that the session has. */
export function pagesOf(scope: Scope): readonly PlaceOfScope[] {
  return pageGroupsOf(scope).flatMap(({ pages }) => pages);
}

/** The list of keys, for those who see their own alone. */
function ofSession(page: PlaceOfScope, scope: Scope): PlaceOfScope {
  if (page.place !== 'keys' || scope.reach('read keys') !== 'own') return page;
  if (!isOfKey(scope)) return { ...page, name: 'My keys' };
  return { ...page, place: `keys/${scope.me.key?.id}`, name: 'This key', icon: 'keys' };
}

function isOfKey({ me }: Scope): boolean {
  return me.key?.can_manage === false;
}

/** Path of the page in another scope that shows the same there, `/a/5/requests`, or else its Home. */
export function samePlaceIn(scope: Scope, pathname: string, from: Scope | undefined): string {
  const place = from && pathname.startsWith(`${from.path}/`) ? pathname.slice(from.path.length + 1) : '';
  const [first] = place.split('/');
  const same = pagesOf(scope).find((page) => page.place === first);
  return `${scope.path}/${same?.place ?? 'home'}`;
}
