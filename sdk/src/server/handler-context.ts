import type { SignIn } from './sign-in.ts';

/** The dependencies of the route handlers. */
export type HandlerContext = {
  signIn: SignIn;
  /** The app's origin. */
  origin: string;
  /** The default path to return to. */
  home: string;
  onError: (error: unknown) => void;
};
