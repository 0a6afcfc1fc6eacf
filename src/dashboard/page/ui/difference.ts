/** A field in which what is stored differs from the form. */
export interface Difference {
  readonly label: string;
  /** The form's value; undefined if the form leaves this field as it is. */
  readonly mine: string | undefined;
  readonly theirs: string;
}
