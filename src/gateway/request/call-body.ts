import type { MeteredBody } from '../../metering/meter.ts';
import type { Upload } from './spool/upload.ts';

/** The body of a call once it has been read, whether it came as JSON or as a form. */
export interface CallBody extends MeteredBody {
  /**
   * The bytes of JSON as the client sent them; of a form as they go upstream, with the provider's name of the model. An
   * Upload where the body is in a file.
   */
  readonly bytes: Buffer | Upload;
}
