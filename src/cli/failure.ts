/** Ends a command. Its message is for the user: what happened, and what to do. */
export class Failure extends Error {
  /** The command was used wrongly: exit code 2 instead of 1. */
  readonly isUsage: boolean;

  constructor(message: string, options: ErrorOptions & { isUsage?: boolean } = {}) {
    super(message, options);
    this.name = 'Failure';
    this.isUsage = options.isUsage ?? false;
  }
}

/** The gateway has refused the command, and so changed nothing. */
export class Refused extends Failure {}
