import { type AnyRouter, useRouter } from '@tanstack/react-router';
import { leaveBecause } from '../ui/unsaved.tsx';
import { farewell } from './farewell.ts';
import { forgetSession } from './me.ts';

/** Function that shows the sign-in page when the session is over. `reason` is shown there; "": the user signed out. */
export function useLeave(): (reason: string) => void {
  const router = useRouter();
  return (reason) => leaveFor(router, reason);
}

/** Shows the sign-in page, with a way back to the page that is shown now. */
export function leaveFor(router: AnyRouter, reason: string): void {
  if (router.state.location.pathname === '/sign-in') return;
  const { href } = router.state.location;
  leaveBecause(reason);
  farewell.reason = reason;
  void router
    // The question about unsaved work came before signing out.
    .navigate({
      to: '/sign-in',
      search: reason === '' ? {} : { next: href },
      ignoreBlocker: reason === '',
    })
    // A page with unsaved work may stay.
    .then(() => {
      if (router.state.location.pathname !== '/sign-in') return;
      leaveBecause('');
      forgetSession();
    });
}
