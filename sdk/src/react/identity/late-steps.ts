// The steps of the checklist, in one file that loads with the first step: users who have met all requirements need none.
export { IdentityStep } from './identity-step.tsx';
export { RequirementStep } from './requirement-step.tsx';
