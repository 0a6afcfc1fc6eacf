import type { PageRole } from './session/may.ts';

/** Props of every page: who is signed in, and the parts of the address after its place (`new` or an id, then more). */
export interface PageProps {
  readonly role: PageRole;
  readonly id: string | undefined;
  readonly part: string | undefined;
}

/** The number in a part of the address; undefined if there is none. */
export function numberIn(part: string | undefined): number | undefined {
  return part !== undefined && /^\d+$/.test(part) ? Number(part) : undefined;
}
