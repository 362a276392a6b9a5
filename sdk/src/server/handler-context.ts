import type { SignIn } from './sign-in.ts';

/** The dependencies of the route handlers. */
export type HandlerContext = {
  signIn: SignIn;
  /** The app's origin. */
  origin: string;
  /** The path to send users to if no other is known. */
  home: string;
  onError: (error: unknown) => void;
};
