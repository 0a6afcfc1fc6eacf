import { signal } from '@preact/signals';
import { addressOf, changedChoices, choicesOf, partsOf, TIMES } from './address.ts';
import { entry } from './entry-here.ts';
import { zone } from './format/time.ts';
import { leavePlace, returnTo, setOut } from './scroll-place.ts';
import { asksBeforeLeaving } from './ui/leave-guard.ts';

/** The current route as the parts of its path: `keys` and `12` for `#/keys/12`. */
export const route = signal(partsOf(location.hash));
/** The choices made on the current route (filters, search, page): the query of `#/keys?search=ci`. */
export const query = signal(choicesOf(location.hash));

/** Latest address of each path, with the choices made there. */
const latest = new Map<string, string>();

history.scrollRestoration = 'manual';
if (query.value.get(TIMES) === 'utc') zone.value = 'utc';
note(route.value, addressOf(route.value, query.value, zone.value));
setOut();

addEventListener('hashchange', (event) => {
  // The fragment of an entry is a secret, and no route.
  if (entry !== undefined) return;
  if (asksBeforeLeaving(event)) return;
  leavePlace();
  const isReturn = returnTo();
  const choices = choicesOf(location.hash);
  const times = choices.get(TIMES);
  // The browser's Back does not undo the choice of a time zone, but a link that names one sets it.
  if (!isReturn && times !== null) zone.value = times === 'utc' ? 'utc' : 'local';
  show(partsOf(location.hash), choices);
});

/** Goes to a page by a new entry of the history. */
export function goTo(path: string): void {
  location.hash = path;
}

/** Goes to a page by replacing the current entry of the history, as from an address that this role has no page for. */
export function goInstead(path: string): void {
  show(partsOf(path), new URLSearchParams());
}

/** Changes choices of this page; "" removes one. With `push`, the browser's Back undoes the change. */
export function choose(changes: Readonly<Record<string, string>>, how: 'push' | 'replace' = 'push'): void {
  const chosen = changedChoices(query.value, changes);
  if (how === 'push') {
    leavePlace();
    history.pushState(null, '', addressOf(route.value, chosen, zone.value));
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
  const address = addressOf(place, chosen, zone.value);
  note(place, address);
  if (address !== location.hash) history.replaceState(history.state, '', address);
}

function note(place: readonly string[], address: string): void {
  latest.set(`#/${place.join('/')}`, address);
}
