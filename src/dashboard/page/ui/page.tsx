import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import { asLeft } from '../route.ts';
import { isBroughtBack } from '../scroll-place.ts';
import { signIns } from '../session/session.ts';

let isFirst = true;

/**
 * Frame of a page: title, actions and content. A new page focuses its title, for screen readers; one that the user
 * returns to is scrolled to where it was left.
 */
export function PageFrame(props: {
  title: string;
  /** Part of the page, which distinguishes pages with one title. */
  part?: string | undefined;
  back?: { readonly href: string; readonly name: string };
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { title, part } = props;
  useEffect(() => {
    document.title = `${part ? `${part} · ` : ''}${title} · Tollgate`;
  }, [title, part]);
  useEffect(() => {
    // Not on the first load, when the browser starts at the top by itself; but after a sign-in, whose form has gone.
    if (!isFirst || signIns.value > 0) heading.current?.focus({ preventScroll: true });
    isFirst = false;
    if (!isBroughtBack()) scrollTo(0, 0);
  }, []);
  return (
    <>
      {props.back && (
        <p className="back">
          <a href={asLeft(props.back.href)}>← {props.back.name}</a>
        </p>
      )}
      <div className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {props.actions && <div className="actions">{props.actions}</div>}
      </div>
      {props.children}
    </>
  );
}
