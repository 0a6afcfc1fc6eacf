import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { PageLink } from './link.tsx';

/** Links by which pages were left, by the key of the history entry. */
const leftBy = new Map<string, string>();
let isFirst = true;

/** Remembers the focused link of each page that is left, so that Back can focus it again. */
export function rememberLinks(router: ReturnType<typeof useRouter>): () => void {
  return router.subscribe('onBeforeNavigate', ({ fromLocation }) => {
    const href = document.activeElement?.getAttribute('href');
    const key = fromLocation?.state.__TSR_key;
    if (key === undefined) return;
    if (href) leftBy.set(key, href);
    else leftBy.delete(key);
  });
}

/**
 * Frame of a page: title, actions and content. A new page focuses its title, for screen readers; one that the reader
 * returns to focuses the link by which it was left.
 */
export function Page(props: {
  title: string;
  /** Part of the page, which distinguishes pages with one title in the browser's tabs. */
  part?: string | undefined;
  back?: { readonly to: string; readonly name: string };
  /** Beside the title: badges. */
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const router = useRouter();
  const { title, part } = props;
  useEffect(() => {
    document.title = `${part ? `${part} · ` : ''}${title} · Tollgate`;
  }, [title, part]);
  useEffect(() => {
    const key = router.state.location.state.__TSR_key;
    const href = key === undefined ? undefined : leftBy.get(key);
    const link = href ? document.querySelector<HTMLElement>(`a[href="${CSS.escape(href)}"]`) : null;
    // Not on the first load, when the browser starts at the top by itself.
    if (!isFirst) (link ?? heading.current)?.focus({ preventScroll: true });
    isFirst = false;
  }, [router]);
  return (
    <>
      {props.back && (
        <p className="back">
          <PageLink to={props.back.to}>← {props.back.name}</PageLink>
        </p>
      )}
      <div className="page-head">
        <div className="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {props.beside}
        </div>
        {props.actions && <div className="actions">{props.actions}</div>}
      </div>
      {props.children}
    </>
  );
}
