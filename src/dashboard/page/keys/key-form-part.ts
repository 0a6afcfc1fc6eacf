import type { KeyView } from '../../../api/views/key-view.ts';
import type { KeyDraft, KeyErrors } from './key-draft.ts';

/** Props of every section of the key form. */
export interface KeyFormPart {
  readonly draft: KeyDraft;
  readonly errors: KeyErrors;
  readonly change: (part: Partial<KeyDraft>) => void;
  /** The key as it is stored; undefined for one that is being created. */
  readonly known: KeyView | undefined;
}
