import { HERE } from '../base.ts';
import { entryIn, secretIn } from './entry-address.ts';

/** The entry at which the document was opened; undefined for the other pages. */
export const entry = entryIn(location.pathname.slice(HERE.pathname.length));

/** Secret of the link that opened the document; "" if there is none. It is in this variable only. */
export const secret = entry === undefined ? '' : secretIn(location.hash);

if (entry !== undefined) {
  // The history, and whoever looks at the screen, do not get it.
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  // Another link that is pasted into this tab changes the fragment alone.
  addEventListener('hashchange', () => location.reload());
}
