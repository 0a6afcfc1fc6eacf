import { entryIn, secretIn } from './entry.ts';

/** The entry at which the page was opened; undefined for the page itself. */
export const entry = entryIn(location.pathname);

/** Secret of the link that opened the page; "" if there is none. It is in this variable only. */
export const secret = entry === undefined ? '' : secretIn(location.hash);

if (entry !== undefined) {
  // Before any other module reads the address.
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  // Another link that is pasted into this tab changes the fragment alone.
  addEventListener('hashchange', () => location.reload());
}
