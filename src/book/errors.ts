/**
 * Thrown by `openBook` if waiting would not help: the message is one line for the operator that says what is wrong
 * and what to do (specification section 1, "Refusal to start"). It never holds a password.
 */
export class CannotOpenBook extends Error {
  override readonly name: string = 'CannotOpenBook';
}

/** Thrown if the data folder belongs to another gateway that is running. */
export class DataFolderInUse extends CannotOpenBook {
  override readonly name = 'DataFolderInUse';

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another gateway. Stop that gateway or set TOLLGATE_DATA to another folder; ` +
        'to run several gateways, use PostgreSQL (DATABASE_URL).',
    );
  }
}
