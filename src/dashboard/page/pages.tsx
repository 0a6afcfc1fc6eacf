import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { homeOf, isPlaceOf } from './navigation.ts';
import { goInstead, route } from './route.ts';
import type { Session } from './session/session.ts';
import { Loading } from './ui/shown.tsx';

type Role = Session['role'];

/** Props of every page: who is signed in, and the parts of the address after its place (`new` or an id, then more). */
export interface PageProps {
  readonly role: Role;
  readonly id: string | undefined;
  readonly part: string | undefined;
}

/** The pages by their places, each loaded when it is first shown. */
const PAGES: Readonly<Record<string, ComponentType<PageProps>>> = {
  home: lazy(() => import('./home/home-page.tsx')),
  requests: lazy(() => import('./requests/requests-page.tsx')),
  usage: lazy(() => import('./usage/usage-page.tsx')),
  keys: lazy(() => import('./keys/keys-page.tsx')),
  billing: lazy(() => import('./billing/billing-page.tsx')),
  alerts: lazy(() => import('./alerts/alerts-page.tsx')),
  explain: lazy(() => import('./explain/explain-page.tsx')),
  accounts: lazy(() => import('./operator/accounts-page.tsx')),
  providers: lazy(() => import('./operator/providers-page.tsx')),
};

/** The page of the current route; the home page where this role has no page for it. */
export function Page({ role }: { role: Role }) {
  const [place = homeOf(role), id, part] = route.value;
  const isKnown = isPlaceOf(role, place);
  useEffect(() => {
    if (!isKnown) goInstead(`/${homeOf(role)}`);
  }, [isKnown, role]);
  const Current = PAGES[place];
  if (!isKnown || Current === undefined) return null;
  return (
    <Suspense fallback={<Loading />}>
      <Current key={`${place}/${id}/${part}`} role={role} id={id} part={part} />
    </Suspense>
  );
}

/** The number in a part of the address; undefined where there is none. */
export function numberIn(part: string | undefined): number | undefined {
  return part !== undefined && /^\d+$/.test(part) ? Number(part) : undefined;
}
