export {
  type CausewayNext,
  type CausewayNextOptions,
  createCausewayNext,
  type NextUser,
} from './create-causeway-next.ts';
