/**
 * Moves the focus, and so the eye, to what is wrong once that is drawn: the first control of the form that is marked, else
 * the note that says it.
 */
export function focusFirstFault(form: HTMLElement | null): void {
  setTimeout(() => {
    const fault =
      form?.querySelector<HTMLElement>('[aria-invalid="true"], [data-fault]') ??
      form?.querySelector<HTMLElement>('[role="alert"]');
    fault?.focus();
    fault?.scrollIntoView({ block: 'nearest' });
  });
}
