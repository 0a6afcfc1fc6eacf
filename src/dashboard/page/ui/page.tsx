import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

let isFirst = true;

/** A page: its title, what can be done with all of it, and its content. Moves the focus to its title, for readers. */
export function PageFrame(props: {
  title: string;
  back?: { readonly href: string; readonly name: string };
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { title } = props;
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
  useEffect(() => {
    // Not on loading: there the browser starts at the top by itself.
    if (!isFirst) heading.current?.focus();
    isFirst = false;
    scrollTo(0, 0);
  }, []);
  return (
    <>
      {props.back && (
        <p class="back">
          <a href={props.back.href}>← {props.back.name}</a>
        </p>
      )}
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {props.actions && <div class="actions">{props.actions}</div>}
      </div>
      {props.children}
    </>
  );
}
