/**
 * Error of a request that was refused or not answered. `message` is for the user, and the gateway's own if it answered.
 */
export class ApiFailure extends Error {
  /** Status of the answer; 0 if none came. */
  readonly status: number;
  /** An error code of the API, `unreachable`, `unreadable` or ANSWER_LOST. */
  readonly code: string;
  /** The API's name of the field that was refused; null if none is named. */
  readonly param: string | null;
  /** True if a provider refused the call, and not the gateway. */
  readonly isOfProvider: boolean;

  constructor(
    status: number,
    code: string,
    message: string,
    param: string | null = null,
    isOfProvider = false,
  ) {
    super(message);
    this.isOfProvider = isOfProvider;
    this.name = 'ApiFailure';
    this.status = status;
    this.code = code;
    this.param = param;
  }
}
