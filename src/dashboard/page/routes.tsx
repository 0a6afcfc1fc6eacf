import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
  redirect,
  retainSearchParams,
  useRouter,
} from '@tanstack/react-router';
import { useEffect } from 'react';
import { HERE } from './base.ts';
import { ApiFailure } from './data/api-failure.ts';
import { whenSessionEnds } from './data/client.ts';
import { queryClient } from './data/query.ts';
import { setZone } from './format/zone.ts';
import { oldAddress } from './old-address.ts';
import { leaveFor } from './session/end.ts';
import { AccountPages, FrameLoading, MyPages, OperatedPages, OperatorPages } from './session/frames.tsx';
import { takeNext } from './session/kept-next.ts';
import { homeOf, type Me, meQuery } from './session/me.ts';
import { NotFoundAnywhere, PageFailed } from './session/not-found.tsx';
import { Announcements } from './ui/announce.tsx';
import { formatChoices, parseChoices } from './ui/choices.ts';
import { rememberLinks } from './ui/page.tsx';
import { Loading } from './ui/shown.tsx';

type Load = () => Promise<{ readonly default: RouteComponent }>;

/** Pages of an account by their places below it: `/a/5/…`, and `/operator/accounts/5/…` for the operator. */
const ACCOUNT: Readonly<Record<string, Load>> = {
  home: () => import('./home/home.tsx'),
  requests: () => import('./requests/requests.tsx'),
  usage: () => import('./usage/usage.tsx'),
  keys: () => import('./keys/keys.tsx'),
  'keys/new': () => import('./keys/new-key.tsx'),
  'keys/$key': () => import('./keys/key.tsx'),
  models: () => import('./models/models.tsx'),
  members: () => import('./members/members.tsx'),
  limits: () => import('./limits/limits.tsx'),
  billing: () => import('./billing/billing.tsx'),
  alerts: () => import('./alerts/alerts.tsx'),
  audit: () => import('./audit/audit.tsx'),
  settings: () => import('./settings/settings.tsx'),
};

/** As the operator sees an account, two pages are others. */
const OPERATED: Readonly<Record<string, Load>> = {
  ...ACCOUNT,
  home: () => import('./operator/account-home.tsx'),
  settings: () => import('./operator/account-settings.tsx'),
};

const OPERATOR: Readonly<Record<string, Load>> = {
  home: () => import('./operator/home.tsx'),
  accounts: () => import('./operator/accounts.tsx'),
  'accounts/new': () => import('./operator/new-account.tsx'),
  people: () => import('./operator/people.tsx'),
  requests: () => import('./requests/requests.tsx'),
  usage: () => import('./usage/usage.tsx'),
  models: () => import('./models/models.tsx'),
  providers: () => import('./operator/providers.tsx'),
  health: () => import('./operator/health.tsx'),
  audit: () => import('./audit/audit.tsx'),
};

const root = createRootRoute({
  component: Root,
  notFoundComponent: NotFoundAnywhere,
  search: { middlewares: [retainSearchParams(['times'] as never)] },
});

function Root() {
  const router = useRouter();
  useEffect(() => {
    whenSessionEnds((reason) => leaveFor(router, `You have been signed out. ${reason}`));
    return rememberLinks(router);
  }, [router]);
  return (
    <>
      <Outlet />
      <Announcements />
    </>
  );
}

/** Routes of pages that need a session: who is signed in is known before they are drawn. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ location }) => ({ me: await whoIsSignedIn(location.href) }),
  errorComponent: PageFailed,
  pendingComponent: FrameLoading,
});

async function whoIsSignedIn(href: string): Promise<Me> {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
    throw redirect({ to: '/sign-in', search: href === '/' ? {} : ({ next: href } as never) });
  }
}

const index = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: ({ context, location }) => {
    const { me } = context as { me: Me };
    throw redirect({ href: takeNext() ?? oldAddress(location.hash, me) ?? homeOf(me), replace: true });
  },
});

const account = createRoute({ getParentRoute: () => signedIn, path: 'a/$account', component: AccountPages });
const operator = createRoute({ getParentRoute: () => signedIn, path: 'operator', component: OperatorPages });
const operated = createRoute({
  getParentRoute: () => signedIn,
  path: 'operator/accounts/$account',
  component: OperatedPages,
});
const me = createRoute({ getParentRoute: () => signedIn, path: 'me', component: MyPages });
const myPage = pagesBelow(me, { '/': () => import('./me/me.tsx') });

function pagesBelow(parent: AnyRoute, loads: Readonly<Record<string, Load>>): AnyRoute[] {
  return Object.entries(loads).map(([path, load]) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      component: lazyRouteComponent(() => load().catch(notLoaded)),
    }),
  );
}

/** With an error of its own: for that of the browser, the router reloads the document, which fails without the gateway. */
function notLoaded(cause: unknown): never {
  throw new Error('The page was not loaded.', { cause });
}

/** The address of a scope alone leads to its Home. */
function withHome(parent: AnyRoute, loads: Readonly<Record<string, Load>>): AnyRoute {
  const first = createRoute({
    getParentRoute: () => parent,
    path: '/',
    beforeLoad: ({ location }) => {
      throw redirect({ to: `${location.pathname.replace(/\/$/, '')}/home` as never, replace: true });
    },
  });
  return parent.addChildren([first, ...pagesBelow(parent, loads)]);
}

const tree = root.addChildren([
  // The end of a session leads there. Documents that begin there do without the router (main.tsx).
  ...pagesBelow(root, { 'sign-in': () => import('./session/sign-in.tsx') }),
  signedIn.addChildren([
    index,
    withHome(account, ACCOUNT),
    withHome(operator, OPERATOR),
    withHome(operated, OPERATED),
    me.addChildren(myPage),
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  basepath: HERE.pathname.replace(/\/$/, ''),
  parseSearch: parseChoices,
  stringifySearch: formatChoices,
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailed,
});

router.subscribe('onBeforeLoad', ({ toLocation }) => {
  const { times } = toLocation.search as { times?: string };
  if (times !== undefined) setZone(times === 'utc' ? 'utc' : 'local');
});
