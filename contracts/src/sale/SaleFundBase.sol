// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";
import {SafeCastLib} from "solady/utils/SafeCastLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {Guarded} from "../Guarded.sol";
import {ISaleFundBase} from "./ISaleFundBase.sol";

/// @notice See `ISaleFundBase`.
abstract contract SaleFundBase is ISaleFundBase, OwnableRoles, Guarded {
    using SafeCastLib for uint256;
    using SafeTransferLib for address;

    /// @dev The count and the sum of commits and of remits. Kept for each combination of user, option and token, and
    /// for each token. Commits and remits take one storage slot each.
    struct Totals {
        uint48 commitCount;
        uint208 commitSum;
        uint48 remitCount;
        uint208 remitSum;
    }

    uint256 public constant KIND = 0;

    /// @notice The role that may commit, and the bit of the stop mask that stops commits.
    uint256 public constant COMMIT = 2;
    /// @notice The role that may remit, and the bit of the stop mask that stops remits.
    uint256 public constant REMIT = 4;

    /// @dev The gas allowance of each batch row. Old tokens fail with an invalid opcode that burns all gas. Gas
    /// estimation returns the lowest amount with which the batch does not revert. Without a fixed allowance per row, an
    /// old token or a low estimate would make later rows fail silently.
    uint256 internal constant ROW_GAS = 400_000;
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

    function commitBalance(address user, bytes32 option, address token) public view returns (uint256) {
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

    function _checkRowGas() internal view {
        if (gasleft() < ROW_GAS * 64 / 63 + ROW_OVERHEAD) revert InsufficientGas();
    }

    function _checkCommit(address user, uint256 amount) internal view {
        if (user == address(0) || user == address(this)) revert InvalidUser();
        if (amount < minCommit || amount == 0) revert InsufficientAmount(amount, minCommit);
    }

    function _addCommit(address user, bytes32 option, address token, uint256 amount) internal {
        uint208 sum = amount.toUint208();
        Totals storage ofToken = _tokenTotals[token];
        ++ofToken.commitCount;
        ofToken.commitSum += sum;
        Totals storage ofUser = _userTotals[user][option][token];
        ++ofUser.commitCount;
        ofUser.commitSum += sum;
    }

    function _addRemit(address user, bytes32 option, address token, uint256 amount) internal {
        uint208 sum = amount.toUint208();
        Totals storage ofToken = _tokenTotals[token];
        ++ofToken.remitCount;
        ofToken.remitSum += sum;
        Totals storage ofUser = _userTotals[user][option][token];
        ++ofUser.remitCount;
        ofUser.remitSum += sum;
    }

    /// @dev Returns true only if the balance grew by exactly `amount`. This rejects tokens that charge a transfer fee
    /// and addresses that are not tokens.
    function _tryPull(address token, address user, uint256 amount) internal returns (bool) {
        uint256 before = token.balanceOf(address(this));
        bool moved = token.trySafeTransferFrom(user, address(this), amount);
        uint256 current = token.balanceOf(address(this));
        return moved && current >= before && current - before == amount;
    }

    function _tryPay(address token, address to, uint256 amount) internal returns (bool) {
        (bool called, bytes memory answer) =
            token.call(abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        if (!called) return false;
        if (answer.length == 0) return token.code.length != 0;
        return answer.length >= 32 && abi.decode(answer, (uint256)) == 1;
    }

    function _outstanding(Totals storage sums) private view returns (uint256) {
        return sums.commitSum - sums.remitSum;
    }

    function _spread(Totals storage sums) private view returns (uint256, uint256, uint256, uint256) {
        return (sums.commitCount, sums.commitSum, sums.remitCount, sums.remitSum);
    }
}
