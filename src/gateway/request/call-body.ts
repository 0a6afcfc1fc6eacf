import type { MeteredBody } from '../../metering/metered-body.ts';
import type { Upload } from './spool/upload.ts';

/** The body of a call once it has been read, whether it came as JSON or as a form. */
export interface CallBody extends MeteredBody {
  /** JSON: the bytes that came. Form: the bytes that go upstream. An Upload where the body is in a file. */
  readonly bytes: Buffer | Upload;
}
