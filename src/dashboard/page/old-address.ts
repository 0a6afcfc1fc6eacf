import { accountsOf, type Me } from './session/me.ts';

/** Pages that had other names before they had paths. */
const RENAMED: Readonly<Record<string, string>> = { people: 'members', explain: 'requests' };
/** Places of the operator, as opposed to those of an account. */
const OPERATOR_PLACES: ReadonlySet<string> = new Set(['accounts', 'providers', 'health']);

/** Path for an address of the page before it had paths, `#/keys/12?range=7d`; undefined if it is none. */
export function oldAddress(hash: string, me: Me): string | undefined {
  const [path = '', query] = hash.replace(/^#/, '').split('?');
  if (!path.startsWith('/')) return undefined;
  const [place = '', ...rest] = path.split('/').filter(Boolean);
  if (place === '') return undefined;
  const asked = query === undefined ? '' : `?${query.replace(/(^|&)request=/, '$1call=')}`;
  if (place === 'me') return `/me${asked}`;
  const [account] = accountsOf(me);
  const isOfOperator = me.is_operator && (account === undefined || OPERATOR_PLACES.has(place));
  if (account === undefined && !isOfOperator) return undefined;
  const scope = isOfOperator ? '/operator' : `/a/${account?.id}`;
  // Of an account of the operator, the page is the last part.
  const parts =
    place === 'accounts'
      ? [place, ...rest.slice(0, 1), ...renamed(rest.slice(1))]
      : renamed([place, ...rest]);
  return `${scope}/${parts.join('/')}${asked}`;
}

/** A page by its new name. What it showed of the old one, such as a key to explain, is left out. */
function renamed([place = '', ...rest]: readonly string[]): readonly string[] {
  const named = RENAMED[place];
  return named ? [named] : [place, ...rest].filter(Boolean);
}
