// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {Guarded} from "../Guarded.sol";
import {ISaleFund} from "./ISaleFund.sol";

/// @notice See `ISaleFund`.
contract SaleFund is ISaleFund, OwnableRoles, Guarded {
    using SafeTransferLib for address;

    uint256 public constant KIND = 0;
    uint256 public constant VERSION = 1;

    /// @notice The role that commits, and the stop level that stops commits.
    uint256 public constant COMMIT = 2;
    /// @notice The role that remits, and the stop level that stops remits.
    uint256 public constant REMIT = 4;

    /// @dev The gas allowance of one batch row. Old tokens fail with an invalid opcode that burns all gas, and gas
    /// estimation settles on the least gas that does not revert. Without a fixed allowance, either would silently fail
    /// later rows.
    uint256 private constant ROW_GAS = 400_000;
    uint256 private constant ROW_OVERHEAD = 20_000;

    bytes32 public immutable id;
    uint256 public immutable minCommit;
    uint256 public stopped;

    mapping(address token => Totals) private _tokenTotals;
    mapping(address user => mapping(bytes32 option => mapping(address token => Totals))) private _userTotals;

    constructor(address owner, bytes32 id_, uint256 minCommit_) {
        _initializeOwner(owner);
        id = id_;
        minCommit = minCommit_;
    }

    modifier running(uint256 level) {
        if (stopped & level != 0) revert IsStopped();
        _;
    }

    function commit(address user, bytes32 option, address token, uint256 amount)
        external
        onlyRoles(COMMIT)
        running(COMMIT)
        nonReentrant
    {
        _commit(user, option, token, amount);
    }

    function commit(
        address[] calldata users,
        bytes32[] calldata options,
        address[] calldata tokens,
        uint256[] calldata amounts
    ) external onlyRoles(COMMIT) running(COMMIT) nonReentrant {
        uint256 rows = users.length;
        if (options.length != rows || tokens.length != rows || amounts.length != rows) {
            revert NonEquivalentListLength();
        }
        uint256 failed;
        for (uint256 i; i < rows; ++i) {
            if (gasleft() < ROW_GAS * 64 / 63 + ROW_OVERHEAD) revert InsufficientGas();
            try this.commitRow{gas: ROW_GAS}(users[i], options[i], tokens[i], amounts[i]) {}
            catch {
                ++failed;
                emit BatchFail(0, users[i], options[i], tokens[i], amounts[i]);
            }
        }
        emit Batched(0, rows - failed, failed);
    }

    /// @dev One row of a batch. Only this contract may call it, so that a failure rolls back this row alone.
    function commitRow(address user, bytes32 option, address token, uint256 amount) external {
        if (msg.sender != address(this)) revert Unauthorized();
        _commit(user, option, token, amount);
    }

    function remit(address user, bytes32 option, address token, uint256 amount)
        external
        onlyRoles(REMIT)
        running(REMIT)
        nonReentrant
    {
        _remit(user, option, token, amount);
    }

    function remit(address[] calldata users, bytes32 option, address token, uint256[] calldata amounts)
        external
        onlyRoles(REMIT)
        running(REMIT)
        nonReentrant
    {
        uint256 rows = users.length;
        if (amounts.length != rows) revert NonEquivalentListLength();
        for (uint256 i; i < rows; ++i) {
            _remit(users[i], option, token, amounts[i]);
        }
        emit Batched(1, rows, 0);
    }

    function stop(uint256 level) external onlyOwner {
        stopped = level;
        emit Stopped(level);
    }

    function withdraw(address token, address to, uint256 amount) external onlyOwner nonReentrant {
        if (to == address(0) || to == address(this)) revert InvalidUser();
        emit Withdrawn(token, to, amount);
        token.safeTransfer(to, amount);
    }

    function fundingTokenBalance(address token) external view returns (uint256) {
        return token.balanceOf(address(this));
    }

    function commitBalance(address token) external view returns (uint256) {
        return _outstanding(_tokenTotals[token]);
    }

    function commitBalance(address user, bytes32 option, address token) external view returns (uint256) {
        return _outstanding(_userTotals[user][option][token]);
    }

    function totals(address token)
        external
        view
        returns (uint256 commitCount, uint256 commitSum, uint256 remitCount, uint256 remitSum)
    {
        return _spread(_tokenTotals[token]);
    }

    function totals(address user, bytes32 option, address token)
        external
        view
        returns (uint256 commitCount, uint256 commitSum, uint256 remitCount, uint256 remitSum)
    {
        return _spread(_userTotals[user][option][token]);
    }

    function _commit(address user, bytes32 option, address token, uint256 amount) private {
        if (user == address(0) || user == address(this)) revert InvalidUser();
        if (amount < minCommit || amount == 0) revert InsufficientAmount(amount, minCommit);
        _addCommit(_tokenTotals[token], amount);
        _addCommit(_userTotals[user][option][token], amount);
        emit Committed(user, option, token, amount);

        // Measured, so that a token that charges a fee or is not a token is never credited with more than arrived.
        uint256 before = token.balanceOf(address(this));
        bool moved = token.trySafeTransferFrom(user, address(this), amount);
        uint256 current = token.balanceOf(address(this));
        if (!moved || current < before || current - before != amount) revert CommitFailed(user, option, token);
    }

    function _remit(address user, bytes32 option, address token, uint256 amount) private {
        Totals storage mine = _userTotals[user][option][token];
        if (_outstanding(mine) < amount || amount == 0) revert InsufficientCommitment(user, option, token);
        _addRemit(_tokenTotals[token], amount);
        _addRemit(mine, amount);
        emit Remitted(user, option, token, amount);
        if (!_trySafeTransfer(token, user, amount)) revert RemitFailed(user, option, token);
    }

    function _addCommit(Totals storage sums, uint256 amount) private {
        ++sums.commitCount;
        sums.commitSum += amount;
    }

    function _addRemit(Totals storage sums, uint256 amount) private {
        ++sums.remitCount;
        sums.remitSum += amount;
    }

    function _outstanding(Totals storage sums) private view returns (uint256) {
        return sums.commitSum - sums.remitSum;
    }

    function _spread(Totals storage sums) private view returns (uint256, uint256, uint256, uint256) {
        return (sums.commitCount, sums.commitSum, sums.remitCount, sums.remitSum);
    }

    function _trySafeTransfer(address token, address to, uint256 amount) private returns (bool) {
        (bool called, bytes memory answer) =
            token.call(abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        if (!called) return false;
        if (answer.length == 0) return token.code.length != 0;
        return answer.length >= 32 && abi.decode(answer, (uint256)) == 1;
    }
}
