import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { ApiFailure } from '../data/api-failure.ts';
import { PageLink } from '../ui/link.tsx';
import { Failure, Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';

/** Answer to an address without a page for this session. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <p>There is no such page, or you may not see it.</p>
      <p>
        <PageLink to="/">Go to the first page</PageLink>
      </p>
    </Page>
  );
}

/** The same, for an address outside all scopes, which has no frame. */
export function NotFoundAnywhere() {
  return (
    <main>
      <NotFound />
    </main>
  );
}

/** Answer where a page, or its script, could not be loaded. */
export function PageFailed({ error }: ErrorComponentProps) {
  return (
    <Page title="Page not loaded">
      {error instanceof ApiFailure ? (
        <Failure error={error} retry={() => location.reload()} />
      ) : (
        <Note kind="danger">
          <p>The gateway can't be reached, or it has been updated since this tab was opened.</p>
          <Button size="xs" variant="default" onClick={() => location.reload()}>
            Reload
          </Button>
        </Note>
      )}
    </Page>
  );
}
