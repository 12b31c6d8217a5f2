import { SignIn } from '../../session/SignInPage';

export function Component() {
  return <SignIn office />;
}
