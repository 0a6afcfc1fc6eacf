import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useZone } from '../format/zone.ts';
import { Loading } from '../ui/shown.tsx';
import { accountsOf, type Me, meQuery } from './me.ts';
import { NotFound } from './not-found.tsx';
import { operatedScope, operatorScope, ownScope, type Scope, ScopeContext } from './scope.ts';
import { Shell } from './shell.tsx';

/** Pages of an account of the session. */
export function AccountPages() {
  const account = Number(useParams({ strict: false }).account);
  return <Frame scopeOf={(me) => ownScope(me, account)} />;
}

/** Pages of the operator over all accounts. */
export function OperatorPages() {
  return <Frame scopeOf={operatorScope} />;
}

/** Pages of an account as the operator sees it. */
export function OperatedPages() {
  const account = Number(useParams({ strict: false }).account);
  return <Frame scopeOf={(me) => operatedScope(me, account)} />;
}

/** Pages of the person, outside all accounts. The navigation beside them is that of the scope before. */
export function MyPages() {
  return <Frame scopeOf={(me) => latest(me) ?? homeScope(me)} isOfScope={false} />;
}

/** The scope whose pages were shown last. */
let latest: (me: Me) => Scope | undefined = () => undefined;

/** Scope of the first page of a session. */
function homeScope(me: Me): Scope | undefined {
  const [first] = accountsOf(me);
  return operatorScope(me) ?? (first && ownScope(me, first.id));
}

function Frame({
  scopeOf,
  isOfScope = true,
}: {
  scopeOf: (me: Me) => Scope | undefined;
  isOfScope?: boolean;
}) {
  const { data: me } = useQuery(meQuery);
  if (me === undefined) return <FrameLoading />;
  const scope = scopeOf(me);
  if (isOfScope) latest = scopeOf;
  return (
    <ScopeContext.Provider value={scope}>
      {/* Another account or time zone begins without anything of the one before. */}
      <Shell me={me} scope={scope}>
        {isOfScope && scope === undefined ? (
          <NotFound />
        ) : (
          <InZone key={scope?.path ?? ''}>
            <Outlet />
          </InZone>
        )}
      </Shell>
    </ScopeContext.Provider>
  );
}

/** Placeholder before it is known who is signed in. */
export function FrameLoading() {
  return (
    <main>
      <Loading />
    </main>
  );
}

/** Begins the page again in another time zone, because times that are being typed are in the one before. */
function InZone({ children }: { children: ReactNode }) {
  const zone = useZone();
  return <div key={zone}>{children}</div>;
}
