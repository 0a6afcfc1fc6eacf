import { HERE } from '../base.ts';

const PLACE = 'tollgate.next';

/** Keeps where to go after a sign-in with a provider, which returns to the first page. */
export function keepNext(next: URL): void {
  if (next.href === HERE.href) sessionStorage.removeItem(PLACE);
  else sessionStorage.setItem(PLACE, `/${next.href.slice(HERE.href.length)}`);
}

/** Path to go on at, once; undefined if none was kept. */
export function takeNext(): string | undefined {
  const kept = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  return kept ?? undefined;
}
