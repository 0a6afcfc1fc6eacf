/** Moves the focus to the first control of the form that is marked as wrong, once that is drawn. */
export function focusFirstFault(form: HTMLElement | null): void {
  setTimeout(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}
