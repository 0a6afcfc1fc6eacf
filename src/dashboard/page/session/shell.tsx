import { Burger, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { Fragment, type ReactNode, useEffect, useState } from 'react';
import { gatewayUrl } from '../base.ts';
import { ask } from '../data/client.ts';
import { wordsOf } from '../data/failure-words.ts';
import { read } from '../data/query.ts';
import { announce } from '../ui/announce.tsx';
import { Icon } from '../ui/icon.tsx';
import { PageLink } from '../ui/link.tsx';
import { Mark } from '../ui/mark.tsx';
import { mayLeave } from '../ui/unsaved.tsx';
import { ThemeChoice, ZoneChoice } from './display.tsx';
import { useLeave } from './end.ts';
import { FinderButton } from './finder-button.tsx';
import { homeOf, type Me, nameOf } from './me.ts';
import { pageGroupsOf } from './pages.ts';
import type { Scope } from './scope.ts';
import { Switcher } from './switcher.tsx';

/** Frame around every page: the navigation at the side (on phones behind a button), and the content. */
export function Shell({ me, scope, children }: { me: Me; scope: Scope | undefined; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  // Another page closes the menu of a phone.
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to content
      </button>
      <aside className="side" aria-label="Tollgate">
        <div className="side-head">
          <PageLink className="brand" to={homeOf(me)}>
            <Mark /> Tollgate
          </PageLink>
          <Burger
            className="side-toggle"
            size="sm"
            opened={isOpen}
            onClick={() => setOpen(!isOpen)}
            aria-label="Menu"
            aria-expanded={isOpen}
          />
        </div>
        <div className={isOpen ? 'side-body side-open' : 'side-body'}>
          <div>
            <Switcher me={me} scope={scope} />
            <FinderButton me={me} scope={scope} />
            {scope && <Navigation scope={scope} />}
          </div>
          <Foot me={me} />
        </div>
      </aside>
      <div className="content">
        {scope?.kind === 'operated' && <OperatedBar scope={scope} />}
        <main>{children}</main>
      </div>
    </div>
  );
}

/** Says above the pages of an account that the operator looks at them. */
function OperatedBar({ scope }: { scope: Scope }) {
  const { data } = useQuery(read<{ readonly email: string; readonly name?: string }>(scope, scope.api));
  return (
    <section className="operated-bar" aria-label="Account that you operate">
      <span>
        You see <strong>{data ? (data.name ?? data.email) : 'this account'}</strong> as operator.
      </span>
      <Button component={PageLink} to="/operator/accounts" size="compact-sm" variant="default">
        Leave
      </Button>
    </section>
  );
}

function Navigation({ scope }: { scope: Scope }) {
  return (
    <nav aria-label="Pages">
      {pageGroupsOf(scope).map(({ title, pages }) => (
        <Fragment key={title}>
          {title && <p className="side-group">{title}</p>}
          <ul aria-label={title || undefined}>
            {pages.map(({ place, name, icon = place }) => (
              <li key={place}>
                <Link
                  to={`${scope.path}/${place}` as never}
                  search={{} as never}
                  activeOptions={{ includeSearch: false }}
                >
                  <Icon name={icon} />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
    </nav>
  );
}

function Foot({ me }: { me: Me }) {
  return (
    <div className="side-foot">
      <p className="signed-in">
        <strong>{me.person ? <PageLink to="/me">{nameOf(me)}</PageLink> : nameOf(me)}</strong>
        <span>{me.person ? me.person.email : signedInBy(me)}</span>
      </p>
      <ul>
        <li>
          <ZoneChoice />
        </li>
        <li>
          <a href={gatewayUrl('/docs')}>
            <Icon name="docs" />
            API reference
          </a>
        </li>
        <li>
          <SignOut />
        </li>
      </ul>
      <div className="side-row">
        <small>Tollgate {TOLLGATE_VERSION}</small>
        <ThemeChoice />
      </div>
    </div>
  );
}

/** How a session without a person was made. */
function signedInBy({ key }: Me): string {
  if (key === null) return 'Signed in with the admin token';
  return key.can_manage ? 'Signed in with a managing key' : 'Signed in with an API key';
}

function SignOut() {
  const leave = useLeave();
  const end = async () => {
    if (!(await mayLeave())) return;
    try {
      await ask('/api/session/', { method: 'DELETE' });
    } catch (error) {
      announce(wordsOf(error));
      return;
    }
    leave('');
  };
  return (
    <button type="button" className="side-button" onClick={() => void end()}>
      <Icon name="sign-out" />
      Sign out
    </button>
  );
}
