/** Name of the parameter that is `utc` where times are shown in UTC. */
export const TIMES = 'times';

/** Parts of the path of an address: `keys` and `12` for `#/keys/12?times=utc`. */
export function partsOf(address: string): readonly string[] {
  const [path = ''] = address.replace(/^#?\/?/, '').split('?');
  return path.split('/').filter(Boolean);
}

/** Choices in an address: its query. */
export function choicesOf(address: string): URLSearchParams {
  return new URLSearchParams(address.split('?')[1] ?? '');
}

/** The choices with changes; "" removes one. */
export function changedChoices(
  choices: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): URLSearchParams {
  const chosen = new URLSearchParams(choices);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') chosen.delete(name);
    else chosen.set(name, value);
  }
  return chosen;
}

/** Address of a route with its choices and the time zone. */
export function addressOf(place: readonly string[], choices: URLSearchParams, zone: 'local' | 'utc'): string {
  const text = changedChoices(choices, { [TIMES]: zone === 'utc' ? 'utc' : '' }).toString();
  return `#/${place.join('/')}${text && `?${text}`}`;
}

/**
 * True if two addresses name different pages, whatever the query in their hashes, which says how a page is shown.
 */
export function isOtherPage(one: string, other: string): boolean {
  return pageOf(one) !== pageOf(other);
}

function pageOf(address: string): string {
  return new URL(address).hash.split('?', 1)[0] ?? '';
}
