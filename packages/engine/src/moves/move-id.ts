export { earliestIdAt, moveIdText, moveTime, newMoveId, parseMoveId } from '@svc/encoding';
