import { leave } from '../ui/leave-guard.ts';
import { type View, viewsOf } from './person.ts';
import { chooseView, session } from './session.ts';

/** Choice among a person's accounts, and the operator's pages; nothing where there is one. */
export function ViewChoice() {
  const { signedIn, accountId, role } = session.value ?? {};
  if (signedIn === undefined) return null;
  const views = viewsOf(signedIn);
  if (views.length < 2) return null;
  const current: View | undefined = role === 'operator' ? 'operator' : accountId;
  return (
    <select
      className="view-choice"
      aria-label="Account"
      value={String(current)}
      onChange={(event) => {
        const { value } = event.currentTarget;
        // Until the page has left, it shows the account that it is about.
        event.currentTarget.value = String(current);
        const chosen = views.find(({ view }) => String(view) === value);
        if (chosen) leave(() => chooseView(chosen.view));
      }}
    >
      {views.map(({ view, name }) => (
        <option key={view} value={String(view)}>
          {name}
        </option>
      ))}
    </select>
  );
}
