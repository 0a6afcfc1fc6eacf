import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { homeOf, isPlaceOf } from './navigation.ts';
import type { PageProps } from './page-props.ts';
import { goInstead, route } from './route.ts';
import type { PageRole } from './session/may.ts';
import { Note } from './ui/note.tsx';
import { PageFrame } from './ui/page.tsx';
import { Loading } from './ui/shown.tsx';

type Load = () => Promise<{ readonly default: ComponentType<PageProps> }>;

/** The pages by their places. */
const LOADS = {
  home: () => import('./home/home-page.tsx'),
  requests: () => import('./requests/requests-page.tsx'),
  usage: () => import('./usage/usage-page.tsx'),
  keys: () => import('./keys/keys-page.tsx'),
  models: () => import('./models/models-page.tsx'),
  billing: () => import('./billing/billing-page.tsx'),
  alerts: () => import('./alerts/alerts-page.tsx'),
  explain: () => import('./explain/explain-page.tsx'),
  people: () => import('./people/people-page.tsx'),
  me: () => import('./people/me-page.tsx'),
  accounts: () => import('./operator/accounts-page.tsx'),
  health: () => import('./operator/health-page.tsx'),
  providers: () => import('./operator/providers-page.tsx'),
};

/** The pages, each loaded when it is first shown, or when `loadPages` has come to it. */
const PAGES: Readonly<Record<string, ComponentType<PageProps>>> = Object.fromEntries(
  Object.entries<Load>(LOADS).map(([place, load]) => [
    place,
    lazy(() => load().catch(() => ({ default: NotLoaded }))),
  ]),
);

/** Loads every page of a role ahead, so that a click finds it here, also while the gateway cannot be reached. */
export function loadPages(role: PageRole): void {
  // A page that fails now is asked for again when it is shown.
  for (const [place, load] of Object.entries<Load>(LOADS)) if (isPlaceOf(role, place)) load().catch(() => {});
}

/** The page of the current route; the home page where this role has no page for it. */
export function Page({ role }: { role: PageRole }) {
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

/** Stands for a page whose script could not be loaded. */
function NotLoaded() {
  return (
    <PageFrame title="Page not loaded">
      <Note kind="danger">
        <p>The gateway can't be reached, or it has been updated since this tab was opened.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Note>
    </PageFrame>
  );
}
