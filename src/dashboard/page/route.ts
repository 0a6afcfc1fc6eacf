import { signal } from '@preact/signals';
import { zone } from './format/time.ts';
import { leavePlace, returnTo, setOut } from './scroll-place.ts';
import { asksBeforeLeaving } from './ui/leave-guard.ts';

/** Name of the parameter that is `utc` where times are shown in UTC. */
const TIMES = 'times';

/** The current route as the parts of its path: `keys` and `12` for `#/keys/12`. */
export const route = signal(parts());
/** The choices made on the current route (filters, search, page): the query of `#/keys?search=ci`. */
export const query = signal(params());

/** Latest address of each path, with the choices made there. */
const latest = new Map<string, string>();

history.scrollRestoration = 'manual';
if (params().get(TIMES) === 'utc') zone.value = 'utc';
note(route.value, addressOf(route.value, query.value));
setOut();

addEventListener('hashchange', (event) => {
  if (asksBeforeLeaving(event)) return;
  leavePlace();
  const isReturn = returnTo();
  const times = params().get(TIMES);
  // The browser's Back does not undo the choice of a time zone, but a link that names one sets it.
  if (!isReturn && times !== null) zone.value = times === 'utc' ? 'utc' : 'local';
  show(parts(), params());
});

/** Goes to a page by a new entry of the history. */
export function goTo(path: string): void {
  location.hash = path;
}

/** Goes to a page by replacing the current entry of the history, as from an address that this role has no page for. */
export function goInstead(path: string): void {
  show([...partsOf(path)], new URLSearchParams());
}

/** Changes choices of this page; "" removes one. With `push`, the browser's Back undoes the change. */
export function choose(changes: Readonly<Record<string, string>>, how: 'push' | 'replace' = 'push'): void {
  const chosen = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') chosen.delete(name);
    else chosen.set(name, value);
  }
  if (how === 'push') {
    leavePlace();
    history.pushState(null, '', addressOf(route.value, chosen));
    setOut();
  }
  show(route.value, chosen);
}

/** Sets the time zone, and puts it into the address. */
export function chooseZone(chosen: 'local' | 'utc'): void {
  zone.value = chosen;
  show(route.value, query.value);
}

/** Address of a list with its filters as the user last left it; `href` itself where it was not visited yet. */
export function asLeft(href: string): string {
  return latest.get(href) ?? href;
}

/** Shows a route with its choices. The address is set last, because browsers throw at very frequent changes of it. */
function show(place: readonly string[], chosen: URLSearchParams): void {
  route.value = place;
  query.value = chosen;
  const address = addressOf(place, chosen);
  note(place, address);
  if (address !== location.hash) history.replaceState(history.state, '', address);
}

function note(place: readonly string[], address: string): void {
  latest.set(`#/${place.join('/')}`, address);
}

function addressOf(place: readonly string[], chosen: URLSearchParams): string {
  const all = new URLSearchParams(chosen);
  all.delete(TIMES);
  if (zone.value === 'utc') all.set(TIMES, 'utc');
  const text = all.toString();
  return `#/${place.join('/')}${text && `?${text}`}`;
}

function parts(): readonly string[] {
  return partsOf(location.hash);
}

function partsOf(address: string): readonly string[] {
  const [path = ''] = address.replace(/^#?\/?/, '').split('?');
  return path.split('/').filter(Boolean);
}

function params(): URLSearchParams {
  return new URLSearchParams(location.hash.split('?')[1] ?? '');
}
