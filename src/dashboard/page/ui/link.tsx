import { Link } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ReactNode, useContext } from 'react';
import { ScopeContext } from '../session/scope.ts';
import type { Choices } from './choices.ts';

/**
 * Link to a page: below the scope (`keys/12`), or anywhere (`/me`). `choices` are its filters; without them it opens
 * unfiltered.
 */
export function PageLink({
  to,
  choices = {},
  children,
  ...rest
}: Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  to: string;
  choices?: Choices;
  children?: ReactNode;
}) {
  const scope = useContext(ScopeContext);
  const path = to.startsWith('/') ? to : `${scope?.path ?? ''}/${to}`;
  return (
    <Link to={path as never} search={choices as never} {...(rest as object)}>
      {children}
    </Link>
  );
}
